"""What people suppress by today, to be compared with what is proven."""
