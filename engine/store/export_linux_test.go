package store

func walkPaths() (restore func()) {
	was := noOpenat2.Swap(true)
	return func() { noOpenat2.Store(was) }
}
