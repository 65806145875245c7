"""How whatever can be asked for is declared, once: options as fields of dataclasses, and kinds of values."""
