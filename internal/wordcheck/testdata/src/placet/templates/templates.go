package templates

type Key string

func Phrase(lang string, key Key, pairs ...any) string { return "" }
