"""The one error that means: the input needs changing, and here is how."""


class AuditInputError(ValueError):
    """Input that cannot be audited as it stands.

    The message names the column or argument, the offending values and how many there are, and what to do.

    Examples
    --------
    >>> issubclass(AuditInputError, ValueError)
    True
    """
