//! Records as bytes on one side, conversations on the other, exact both ways. Knows JSON and the shapes; knows
//! nothing of files, tables and compression.
