"""The local web application: a face of the command line, on this machine only.

A project is a folder. Whatever takes long is a command, run by a process of its own in a folder of its own,
so that nothing is lost with a tab or with the server. Project, runs, queue and guard know nothing of NiceGUI.
"""
