"""`report` as a function, and the certificates that go with a report."""
