"""Six families of risk models behind one preprocessing."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from auditlib.errors import AuditInputError
from auditlib.models.splits import Fold

MEMBERS = ("random_forest", "gradient_boosting", "logistic")  # of the soft vote; the slow ones first
FAMILIES = (*MEMBERS, "l1_logistic", "shallow_tree", "soft_voting")


def family(name: str, seed: int = 42) -> ClassifierMixin:
    """An unfitted estimator of one of the six families, small enough for two cores and 180,000 rows.

    Boosting does not stop early: that would hold out rows at random, and so split patients.

    Parameters
    ----------
    name : str
        One of ``FAMILIES``.
    seed : int
        For what is random in it (the forest's draws, liblinear's order).

    Raises
    ------
    AuditInputError
        When no family has that name.

    Examples
    --------
    >>> family("shallow_tree").max_depth
    5
    """
    if name == "soft_voting":
        return VotingClassifier([(m, family(m, seed)) for m in MEMBERS], voting="soft")
    makers = {
        "logistic": lambda: LogisticRegression(max_iter=500, tol=1e-5),
        "l1_logistic": lambda: LogisticRegression(l1_ratio=1, solver="liblinear", C=0.1, tol=1e-3, random_state=seed),
        "random_forest": lambda: RandomForestClassifier(
            200, min_samples_leaf=20, max_features="sqrt", random_state=seed
        ),
        "shallow_tree": lambda: DecisionTreeClassifier(max_depth=5, min_samples_leaf=50, random_state=seed),
        "gradient_boosting": lambda: HistGradientBoostingClassifier(
            learning_rate=0.06, max_iter=200, max_leaf_nodes=16, min_samples_leaf=50, early_stopping=False
        ),
    }
    if not isinstance(name, str) or name not in makers:
        raise AuditInputError(f"no model family named {name!r}: choose one of {', '.join(FAMILIES)}.")
    return makers[name]()


def preprocessor(frame: pd.DataFrame) -> ColumnTransformer:
    """Scale the numbers, one indicator a level for everything else.

    A missing number becomes the training median, a missing category a level of its own. Levels held by fewer than
    20 rows share one indicator, as do all beyond the 50 most frequent; so does a level first met in the test set.

    Parameters
    ----------
    frame : pandas.DataFrame
        Decides which columns are numbers; nothing is fitted.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [40.0, None, 60.0], "sex": ["F", "M", None]})
    >>> preprocessor(frame).fit_transform(frame).shape
    (3, 2)
    """
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c]) and frame[c].dtype != bool]
    rest = [c for c in frame if c not in numbers]
    levels = OneHotEncoder(
        min_frequency=20, max_categories=50, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer([("numbers", scaled, numbers), ("levels", levels, rest)])


def calibrated(name: str, frame: pd.DataFrame, splits: Iterable[Fold], seed: int = 42) -> CalibratedClassifierCV:
    """The model an audit judges, as one scikit-learn estimator: an isotonic fold ensemble, unfitted.

    Its score is the mean over folds k of isotonic_k(model_k(x)): model_k is fitted on all folds but k, isotonic_k on
    fold k. ``cross_fit`` computes the same without fitting anything twice; this is its definition.

    Examples
    --------
    >>> from auditlib.models import folds
    >>> frame = pd.DataFrame({"x": [0, 1, 2, 3] * 100})
    >>> y = (frame["x"] > 1).astype(int)
    >>> model = calibrated("shallow_tree", frame, folds(y)).fit(frame, y)
    >>> model.predict_proba(frame.head(4))[:, 1].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    pipeline = make_pipeline(preprocessor(frame), family(name, seed))
    return CalibratedClassifierCV(pipeline, method="isotonic", cv=list(splits), ensemble=True)
