package cli

import (
	"slices"
	"testing"
)

func TestOnlyWhatTheFileHoldsIsLetGo(t *testing.T) {
	const smaps = `00400000-00935000 r-xp 00000000 fe:00 5 /usr/bin/placet
Size:               5332 kB
Rss:                4620 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00935000-00e54000 r--p 00535000 fe:00 5 /usr/bin/placet
Anonymous:             0 kB
00e54000-00f00000 r--p 00a00000 fe:00 5 /usr/bin/placet
Rss:                 600 kB
Anonymous:            40 kB
00f00000-00f80000 rw-p 00b00000 fe:00 5 /usr/bin/placet
Anonymous:             0 kB
00f80000-00f90000 r--p 00b00000 fe:00 5 /usr/lib/other
Anonymous:             0 kB
00f90000-00fa0000 r--p 00b00000 fe:00 5 /tmp/not/usr/bin/placet
Anonymous:             0 kB
00fa0000-00fb0000 r--s 00b00000 fe:00 5 /usr/bin/placet
Anonymous:             0 kB
c000000000-c000800000 rw-p 00000000 00:00 0
Anonymous:          4700 kB
zz-yy r-xp 00000000 fe:00 5 /usr/bin/placet
Anonymous:             0 kB
`
	want := []span{{0x400000, 0x935000}, {0x935000, 0xe54000}}
	if got := unchanged(smaps, "/usr/bin/placet"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := unchanged("", "/usr/bin/placet"); got != nil {
		t.Errorf("of nothing: %x", got)
	}
}

// What is let go comes back by itself: the program goes on.
func TestAProgramGoesOnAfterItHasLetGo(t *testing.T) {
	for range 3 {
		lean()
		TestOnlyWhatTheFileHoldsIsLetGo(t)
	}
}

// A daemon that rests looks at once, again soon, and then more and more seldom.
func TestADaemonAtRestLooksMoreAndMoreSeldom(t *testing.T) {
	var looks []int
	for n := range 20 {
		if seldom(n) {
			looks = append(looks, n)
		}
	}
	if want := []int{1, 2, 4, 8, 16}; !slices.Equal(looks, want) {
		t.Errorf("it looks at rests %v, want %v", looks, want)
	}
}
