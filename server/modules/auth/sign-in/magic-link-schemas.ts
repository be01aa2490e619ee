import { Type } from 'typebox'
import { emailLengthMax } from '../../../../contract/email-address.ts'
import { patterns } from '../../../../contract/literals.ts'

export const Email = Type.String({
  pattern: patterns.email,
  maxLength: emailLengthMax,
  examples: ['kim@example.com'],
})

export const TenantSlug = Type.String({ pattern: patterns.tenantSlug, examples: ['acme'] })

export const MagicLinkBody = Type.Object(
  {
    email: Email,
    tenant: TenantSlug,
    return_to: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'Path of this service to redirect to. Any other value redirects to the default page.',
        examples: ['/records'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const MagicLinkResponse = Type.Object(
  {
    status: Type.Literal('accepted'),
    detail: Type.String({ description: 'The same for every address and every tenant', examples: ['…'] }),
  },
  { additionalProperties: false },
)
