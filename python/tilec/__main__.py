"""python -m tilec: the command."""
from tilec._tool import main

main()
