"""``trelliswork cite``: the commands of the reference parser."""
