-- Telemetry events name related records too; their links are written in the ingest transaction.
grant insert on hub.record_links to hub_ingest;
