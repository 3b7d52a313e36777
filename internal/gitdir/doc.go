// Package gitdir reads which branch a git work tree is on, and what became of branches, from the files that git
// keeps, and maps names of git's branches to names of memory branches.
//
//	Find     the work tree that a directory is in
//	Head     what HEAD of it is at, and which branches it came from
//	Merged   how a branch was merged into it
//	Branch   the memory branch of a git branch; GitBranch is its inverse
//
// No program is run but where refs are in git's binary format (reftable): then Options.Git is asked.
//
// # Files
//
//	.git                          a directory, or a file "gitdir: PATH" (linked work tree, submodule)
//	GITDIR/commondir              the path of the directory that work trees share
//	GITDIR/HEAD                   "ref: refs/heads/NAME", or the id of a commit
//	GITDIR/rebase-merge/head-name, GITDIR/rebase-apply/head-name
//	                              the ref of the branch that is rebased
//	GITDIR/BISECT_START           the branch, or commit, that a bisection began on
//	GITDIR/logs/HEAD              where HEAD was; COMMON/logs/refs/heads/NAME where a branch was
//	COMMON/refs/heads/NAME, COMMON/packed-refs
//	                              the id of the commit that a branch is at
//
// What they hold was written by others: each is read up to a limit, and what is not as git writes it is refused
// with an *Error that names the file. Lines of logs that are not as git writes them are passed over, as git does.
package gitdir
