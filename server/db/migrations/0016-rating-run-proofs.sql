-- The progress of a repricing goes into its signed event, so each row carries a MAC under a key that the database does not
-- have. A run without one is refused: runs that are unfinished at the upgrade must be requested again.
alter table hub.rating_runs add column proof bytea;
