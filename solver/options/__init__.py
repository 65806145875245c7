"""What every operation can be asked, by subject; nothing here needs a library, so that help comes at once."""
