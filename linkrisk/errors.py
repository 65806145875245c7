"""The errors that bad input raises: `LinkriskError` is the root of all of them."""


class LinkriskError(ValueError):
    """Something that a user can mend; the message says what, where and how, in one line."""
