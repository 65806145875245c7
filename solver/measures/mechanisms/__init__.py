"""With what probability masking makes a masked record of an original one; uses files, not attacks."""
