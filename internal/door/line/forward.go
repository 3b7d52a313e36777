package line

// Release ends the use of the shared repository, once the command reads no more from it. err is the
// error of the command.
func (c *Line) Release(err error) {
	if c.InUse != nil {
		c.InUse.Done(err)
		c.InUse = nil
	}
}

// ShownFile returns the name of a file for messages.
func ShownFile(name string) string {
	if name == StdinName {
		return stdinShown
	}
	return name
}
