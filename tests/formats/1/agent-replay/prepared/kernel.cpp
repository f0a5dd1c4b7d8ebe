// a candidate
