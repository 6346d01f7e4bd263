package enginetest

func onDisk(t T, s Suite) {}
