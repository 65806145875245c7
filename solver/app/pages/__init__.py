"""The pages: what is on them, and nothing that could be lost with them.

Names and values of data are only ever given to elements as text, never as HTML.
"""
