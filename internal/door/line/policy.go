package line

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/table"
)

// RepoFile returns the path of a file of the repository, which must exist.
func (c *Line) RepoFile(name string) (string, error) {
	dir, err := c.Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, core.DirName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = Hint(fmt.Errorf("%w: there is no repository in %s", store.ErrNotFound, dir),
				"run 'mnem init' to make a repository there")
		}
		return "", err
	}
	return filepath.Join(path, name), nil
}

// operationName is how policies name a command: "op_restore", "cherry_pick".
func operationName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_")
}

// PolicyPath returns the path of the repository's policy.
func (c *Line) PolicyPath() (string, error) {
	dir, err := c.Dir()
	return filepath.Join(dir, core.DirName, policy.FileName), err
}

// guard refuses a command that the repository's policy does not allow the agent of a stamp, and adds to
// the stamp what refuses the changes that it does not allow; nothing for people, and a guard of changes
// if there is a policy. It is asked for whatever writes, by stamp.
func (c *Line) guard(by *state.Stamp, name string) error {
	if by.Agent == "" && !c.By.Remote { // who calls a server is an agent, named or not
		return nil
	}
	path, err := c.PolicyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return verb.Guard(by, path, name, table.Recording(name), c.OwnKey)
}
