package line

// Release ends the use of the shared repository, when nothing is read of it any more. err is what
// came of the command.
func (c *Line) Release(err error) {
	if c.InUse != nil {
		c.InUse.Done(err)
		c.InUse = nil
	}
}

// ShownFile is what messages call a file.
func ShownFile(name string) string {
	if name == StdinName {
		return stdinShown
	}
	return name
}
