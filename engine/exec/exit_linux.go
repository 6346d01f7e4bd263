package exec

import "golang.org/x/sys/unix"

// exited waits until the process has ended and leaves it unreaped: its id, and
// so its group's, cannot be given to another as long as signals may be sent.
func (p *process) exited() {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
