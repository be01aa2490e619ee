import { type TInteger, type TSchema, Type } from 'typebox'
import { exportQuotaMax, type RateClass, rateClasses } from '../../../contract/limits.ts'
import { patterns, searchLanguages, tenantModes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { displayName } from '../../../contract/request-schemas.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

export const limitMax = 1_000_000_000
const closed = { additionalProperties: false } as const
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-05T09:30:00.000000Z'] })
const Slug = Type.String({
  pattern: patterns.tenantSlug,
  description: 'Name of the tenant in headers and addresses',
  examples: ['acme'],
})
const Mode = Type.Enum(tenantModes, { description: 'Deployment mode' })
const DisplayName = displayName({ description: 'Display name of the tenant', examples: ['Acme Corporation'] })
const Email = (description: string, example: string) =>
  Type.String({ maxLength: 254, pattern: patterns.email, description, examples: [example] })
const AdminEmail = Email('Recipient of the welcome link', 'admin@acme.example')
const ContactEmail = Email('Contact address for the tenant', 'it@acme.example')
const SearchLanguage = Type.Enum([...searchLanguages], {
  description: 'Language in which the search finds other forms of words; `simple` finds words as they are written',
  examples: ['english'],
})
const BaseUrl = Type.String({
  description: 'The address of the tenant: its own (Mode C), or the common one',
  examples: ['https://hub.example.com'],
})
/** Its form is validated together with the tenant's mode. */
const OwnAddress = Type.String({
  maxLength: 2048,
  description: 'Own address of a Mode C tenant: scheme, host and port',
  examples: ['https://hub.customer.example'],
})
const Count = Type.Integer({ minimum: 1, maximum: limitMax, description: 'Requests per minute', examples: [1000] })
export const Limit = object({ per_token: Count, per_tenant: Count })
const byClass = <Schema extends TSchema>(schema: Schema) =>
  Object.fromEntries(rateClasses.map((name) => [name, schema])) as Record<RateClass, Schema>

const ExportsPerDay = Type.Integer({
  minimum: 1,
  maximum: exportQuotaMax.perDay,
  description: 'Maximum number of exports within 24 hours',
  examples: [50],
})
const MbKept = Type.Integer({
  minimum: 1,
  maximum: exportQuotaMax.mbKept,
  description: 'Maximum total size of stored export files, in MiB',
  examples: [2048],
})

function orDefault(quota: TInteger, maximum: number) {
  return Type.Union([quota, Type.Null()], {
    description: 'null: the default',
    'x-must-be': `null, or a whole number of 1 to ${maximum}`,
  })
}

const details = {
  tenant: Slug,
  mode: Mode,
  display_name: DisplayName,
  base_url: BaseUrl,
  admin_email: AdminEmail,
  contact_email: Type.Optional(ContactEmail),
  search_language: SearchLanguage,
  created_at: time('Time of creation'),
  confirmed_at: Type.Optional(time('When its details were first confirmed')),
  provisioned_at: Type.Optional(time('When its Hub was provisioned')),
  live_since: Type.Optional(time('When its first telemetry event came')),
}
/** The details of a tenant for its administrators, with one of the Hub that serves it. */
const detailsForAdministrators = {
  ...details,
  mail_server: Type.Boolean({
    description:
      'Whether the Hub has a mail server. Without one, it mails no invitations, sign-in links or budget reports. ' +
      'Ignored in a request',
    examples: [true],
  }),
}
export const TenantDetailsResponse = object(detailsForAdministrators)

/**
 * Accepts the response of GET. Members that the caller may not change must equal the stored ones; `mail_server` is
 * ignored.
 */
export const TenantDetailsBody = Type.Partial(
  Type.Object({
    ...detailsForAdministrators,
    contact_email: Type.Union([ContactEmail, Type.Null()], {
      description: 'null removes it',
      'x-must-be': 'an e-mail address, or null',
    }),
  }),
  closed,
)

export const SlugParams = object({ slug: Type.String({ description: 'Slug of the tenant', examples: ['acme'] }) })

// The service validates formats, so that one response lists all errors, including those that one schema cannot express.
export const NewTenantBody = object({
  slug: Slug,
  mode: Mode,
  admin_email: AdminEmail,
  base_url: Type.Optional(OwnAddress),
  display_name: Type.Optional(DisplayName),
})

export const CreatedTenantResponse = object({
  tenant: Slug,
  mode: Mode,
  admin_email: AdminEmail,
  welcome_url: Type.String({
    description: 'Address that signs in its user as the administrator, once; returned only once',
    examples: ['https://hub.example.com/welcome/acme/Zk3vXo5mT1yq8Lr0Jd2sWbNc7HfEuPgA4iKtYx6QvR9'],
  }),
  welcome_expires_at: time('Expiry of the link'),
})

const suspension = {
  suspended: Type.Boolean({ description: 'Whether all access to the tenant is blocked' }),
  suspended_at: Type.Optional(time('Time of the suspension')),
}

const TenantEntry = object({
  tenant: Slug,
  mode: Mode,
  base_url: BaseUrl,
  created_at: time('Time of creation'),
  ...suspension,
})

export const TenantList = object({ items: Type.Array(TenantEntry), next_cursor: NextCursor })

export const OperatedTenantResponse = object({
  ...details,
  ...suspension,
  limits: object(byClass(Type.Optional(Limit)), {
    description: 'The tenant’s own rate limits by class; defaults apply to the others',
  }),
  export_quota: object(
    { exports_per_day: Type.Optional(ExportsPerDay), mb_kept: Type.Optional(MbKept) },
    { description: 'The tenant’s own quotas of exports; absent members have the default' },
  ),
})

export const TenantChangesBody = object({
  display_name: Type.Optional(DisplayName),
  admin_email: Type.Optional(AdminEmail),
  base_url: Type.Optional(Type.Union([OwnAddress, Type.Null()], { description: 'null: the common address' })),
  suspended: Type.Optional(Type.Boolean()),
  limits: Type.Optional(
    object(
      byClass(
        Type.Optional(
          Type.Union([Limit, Type.Null()], {
            description: 'null: the defaults',
            'x-must-be': `null, or per_token and per_tenant of 1 to ${limitMax} requests per minute`,
          }),
        ),
      ),
    ),
  ),
  export_quota: Type.Optional(
    object({
      exports_per_day: Type.Optional(orDefault(ExportsPerDay, exportQuotaMax.perDay)),
      mb_kept: Type.Optional(orDefault(MbKept, exportQuotaMax.mbKept)),
    }),
  ),
})
