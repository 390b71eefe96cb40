"""Do sites agree? Raw agreement, κ and AC1 of their verdicts, folds of whole sites and of random people, tiers."""

from auditlib.sites.agreement import site_agreement
from auditlib.sites.audits import agreement_beside_random, site_passes, site_sizes
from auditlib.sites.coefficients import agreement, fleiss_kappa, gwet_ac1, raw_agreement
from auditlib.sites.folds import folds_of_sites, in_folds, random_folds
from auditlib.sites.tiers import TIERS, tier

__all__ = [
    "TIERS",
    "agreement",
    "agreement_beside_random",
    "fleiss_kappa",
    "folds_of_sites",
    "gwet_ac1",
    "in_folds",
    "random_folds",
    "raw_agreement",
    "site_agreement",
    "site_passes",
    "site_sizes",
    "tier",
]
