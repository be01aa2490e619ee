-- A name is what people call a service account; programs know it by its client id. So two accounts may share one.
alter table hub.service_accounts drop constraint service_accounts_name;
