"""What the program survives: kills, damage, full disks, company and interrupts, tried at random.

After each fault the same command is run again to its end. What was finished before has to be there
untouched, and the CSV has to be that of a run that nothing disturbed.
"""
