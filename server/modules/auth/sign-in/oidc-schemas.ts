import { Type } from 'typebox'

export const LoginQuery = Type.Object(
  {
    tenant: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Slug of the tenant. Optional at the tenant's own address.",
        examples: ['acme'],
      }),
    ),
    return_to: Type.Optional(
      Type.String({
        description: 'Path of this service to redirect to. Any other value redirects to the default page.',
        examples: ['/session'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** Allows further parameters: providers add their own, such as `session_state`. */
export const CallbackQuery = Type.Object(
  {
    code: Type.Optional(
      Type.String({ maxLength: 8192, description: 'Authorization code of the provider, valid once' }),
    ),
    state: Type.Optional(Type.String({ maxLength: 1024, description: 'The `state` that the login request sent' })),
    iss: Type.Optional(Type.String({ maxLength: 2048, description: 'RFC 9207' })),
    error: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: 'Error code of the provider (OAuth 2.0)',
        examples: ['access_denied'],
      }),
    ),
  },
  { additionalProperties: true },
)

export const AskFirstPage = Type.String({
  contentMediaType: 'text/html',
  description:
    'For a request from another site (`Sec-Fetch-Site: cross-site`): a page with a link to continue, so that the ' +
    'person decides. No login has started.',
  examples: ['<!doctype html>…'],
})

export const redirectHeaders = {
  location: Type.String({ description: 'Address of the redirect' }),
  'set-cookie': Type.String({ description: 'For the browser only' }),
}
