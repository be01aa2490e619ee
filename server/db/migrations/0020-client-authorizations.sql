-- Clients that a person authorized (OAuth): each authorization is a session with the name of its client. Neither column
-- grants access: a code, like every token, is signed under the master key.

alter table hub.sessions
  add column client_name text,
  -- SHA-256 of the authorization code. Redeeming the code clears the column; the session is not live before.
  add column code_hash bytea;
grant update (code_hash) on hub.sessions to hub_app;
