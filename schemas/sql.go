package schemas

import "embed"

//go:embed optimizer/*.sql
var scripts embed.FS

// SQL returns the embedded script that makes a database, by its name without
// ".sql": "optimizer/audit". It returns "" where there is no such script. All of
// it may be run again over a database that has it already.
func SQL(name string) string {
	body, err := scripts.ReadFile(name + ".sql")
	if err != nil {
		return ""
	}
	return string(body)
}
