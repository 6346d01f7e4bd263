//go:build !linux

package exec

// exited waits until the process has ended. Systems that can only wait and
// reap in one step leave a moment in which its id may be given to another.
func (p *process) exited() { p.wait() }
