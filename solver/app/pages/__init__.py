"""The pages, which hold no state that could be lost with them.

Names and values of data are only ever given to elements as text, never as HTML.
"""
