"""Cohorts whose truth is known in closed form, to learn on and to check methods against.

The model is binormal. A row of group g and site s has

- label ~ Bernoulli(π_gs), logit π_gs = logit π_g + the site's prevalence shift;
- score = Φ(latent), latent = the group's mean for that label + the site's score shift + N(0, 1).

So at a threshold t, with c = Φ⁻¹(t), sensitivity is Φ(mean of positives − c) and specificity Φ(c − mean of negatives).
A patient's rows share part of the noise (correlation ρ) and of the cause of the label (ρ_label); neither changes
what is true of one row, only how much many rows tell. The score orders patients; it is not a calibrated risk.

`Hospitals` is such a cohort at the size of a state's: 441 sites and four attributes, with a calibrated score, drawn as
rows or at once as counts; `texas_file` makes up a file like the one it is modelled on.

`RiskCohort` is another kind: people have covariates to fit models to, and a true risk that these determine.
"""

from auditlib.simulate.cohort import Cohort, both
from auditlib.simulate.hospitals import Hospitals
from auditlib.simulate.parameters import Group, Site
from auditlib.simulate.risk_groups import RiskGroup
from auditlib.simulate.risks import RiskCohort
from auditlib.simulate.stays import stays
from auditlib.simulate.texas_file import texas_file

__all__ = ["Cohort", "Group", "Hospitals", "RiskCohort", "RiskGroup", "Site", "both", "stays", "texas_file"]
