// Package sqlite puts rows into SQLite databases that other programs read and write
// too, and looks into them. A database is a copy: the files of a workspace are the
// record, and what a database does not take now it is given again. One that is
// missing, or holds nothing, is made whole in one transaction; one that is there is
// never altered. A row is never replaced: where its id is taken, what we give is
// compared.
package sqlite
