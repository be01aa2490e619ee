import type { SettingsRow, TenantRow } from './tenants-store.ts'
import type { CreatedTenant, OperatedTenant, OwnExportQuota, TenantDetails } from './tenants-types.ts'

export function detailsOf(
  entry: TenantRow,
  settings: SettingsRow,
  commonUrl: string,
): Omit<TenantDetails, 'mail_server'> {
  return {
    tenant: entry.slug,
    mode: entry.mode,
    display_name: settings.display_name,
    base_url: entry.base_url ?? commonUrl,
    admin_email: settings.admin_email,
    ...(settings.contact_email !== null && { contact_email: settings.contact_email }),
    search_language: settings.search_language,
    created_at: entry.created_at,
    ...(settings.confirmed_at !== null && { confirmed_at: settings.confirmed_at }),
    ...(settings.provisioned_at !== null && { provisioned_at: settings.provisioned_at }),
    ...(settings.live_since !== null && { live_since: settings.live_since }),
  }
}

export function entryOf(row: TenantRow, commonUrl: string) {
  return {
    tenant: row.slug,
    mode: row.mode,
    base_url: row.base_url ?? commonUrl,
    created_at: row.created_at,
    ...suspension(row),
  }
}

export function operatedTenant(
  entry: TenantRow,
  settings: SettingsRow,
  limits: OperatedTenant['limits'],
  commonUrl: string,
): OperatedTenant {
  return {
    ...detailsOf(entry, settings, commonUrl),
    ...suspension(entry),
    limits,
    export_quota: ownExportQuota(settings),
  }
}

function suspension(row: TenantRow): { suspended: boolean; suspended_at?: string } {
  return row.suspended_at === null ? { suspended: false } : { suspended: true, suspended_at: row.suspended_at }
}

export function ownExportQuota(settings: SettingsRow | undefined): OwnExportQuota {
  const { exports_per_day: perDay, export_mb_kept: mbKept } = settings ?? {}
  return { ...(perDay != null && { exports_per_day: perDay }), ...(mbKept != null && { mb_kept: mbKept }) }
}

/** Returns the times at which the tenant was provisioned and its first event came; absent until then. */
export function milestonesOf(settings: SettingsRow | undefined) {
  const { provisioned_at: provisionedAt, live_since: liveSince } = settings ?? {}
  return { ...(provisionedAt != null && { provisionedAt }), ...(liveSince != null && { liveSince }) }
}

/** Returns a new tenant, or a new link of one, in the form of a response. */
export function toCreatedResponse({ tenant, adminEmail, welcome }: CreatedTenant) {
  return {
    tenant: tenant.slug,
    mode: tenant.mode,
    admin_email: adminEmail,
    welcome_url: welcome.url,
    welcome_expires_at: welcome.expiresAt,
  }
}
