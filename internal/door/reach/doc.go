// Package reach runs verbs for a command line, in this process or in the one that has the repository open, and
// gives them files, models, signatures and progress of this machine.
package reach
