"""The job that the queue's users submit: it notes its name in the worker that
runs it. Imported by producer and worker alike; decides nothing."""

ran = []


def note(name):
    ran.append(name)
    return name
