"""One microdata file: reading and writing it, its columns, their scales, roles and categories.

May import numpy and pandas and the libraries that read files; nothing else of this project.
"""
