-- The body that an endpoint receives: a message of the Hub, or that of a chat service.

alter table hub.webhooks add column format text not null default 'hub';
alter table hub.webhooks add constraint webhooks_format check (format in ('hub', 'slack', 'teams'));
