-- The content hash at the last conclusion of a scan, while another one is stored: who diverged is found though a scan died.
ALTER TABLE document ADD COLUMN hash_before BLOB;
