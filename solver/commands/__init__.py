"""The command line: a catalogue of commands, the program that parses them, and chapters that do them.

A function of a chapter takes the request, calls the public function, and writes and prints its result. It
imports what needs numpy when it runs, for help without delay.
"""
