"""Tables of ARGUS: cells with metadata, trees, a-priori files, batches; JJ files; files to be published."""
