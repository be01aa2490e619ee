-- Rows that let somebody in carry a MAC under a key that the database does not have (server/db/row-proofs.ts). The program
-- proves the rows that exist in the transaction of this migration; afterwards a row without its proof is refused.

alter table hub.users add column proof bytea;
alter table hub.service_accounts add column proof bytea;
alter table hub.magic_links add column proof bytea;
alter table hub.user_identities add column proof bytea;
alter table hub.sso_connections add column proof bytea;
alter table hub.scim_configurations add column proof bytea;
alter table hub.tenant_settings add column proof bytea;
alter table hub.tenants add column proof bytea;
-- Statistics would show values of it to other hubs of the same cluster.
alter table hub.tenants alter column proof set statistics 0;
grant update (proof) on hub.users, hub.service_accounts, hub.magic_links, hub.sso_connections, hub.tenants to hub_app;
