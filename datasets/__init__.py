"""What comes in and goes out: microdata files, file pairs, named public data and masking methods.

May import numpy, scipy and pandas; never `linkrisk.solver`, and of `linkrisk.formulations` its
decorator of compiled code only.
"""
