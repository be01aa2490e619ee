/** Every error the service answers with: slug → status, title and the text of the page behind its `type` URI, here and on the documentation site. */

interface Problem {
  status: number
  title: string
  /** Describes the problem in one or two sentences. */
  meaning: string
  /** Describes the remedy for the caller. */
  remedy: string
  /** An example of `detail`, which says what was wrong with one request. */
  example: string
}

export const problems = {
  'validation-failed': {
    status: 400,
    title: 'Validation failed',
    meaning: 'A part of the request does not have the shape or value it must have.',
    remedy: 'Look at `errors`: each entry has a JSON pointer to the part and says what it must be.',
    example: 'The request is not valid: `/record_type` is required.',
  },
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    meaning:
      'The body is not JSON that can be read in one way only: a syntax error, a duplicate member, invalid UTF-8.',
    remedy: 'Send RFC 8259 JSON in UTF-8, each member once. `detail` names the place.',
    example: 'The body is not JSON: unexpected character at byte 17.',
  },
  'content-not-allowed': {
    status: 400,
    title: 'Content not allowed in Mode C',
    meaning: 'This tenant keeps its content in its own cloud. The Hub takes telemetry envelopes only.',
    remedy: 'Remove the fields that `errors` points to and send the request again.',
    example: 'A tenant in Mode C keeps its content in its own cloud. Remove `decision_rationale` from the record.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'Invalid cursor',
    meaning: 'The cursor was altered, or belongs to another tenant or to a query with other parameters.',
    remedy: 'Repeat the query without `cursor`, then follow `next_cursor` with the same parameters.',
    example: 'The cursor does not belong to this query of this tenant. Repeat the query without `cursor`.',
  },
  'authentication-failed': {
    status: 401,
    title: 'Authentication failed',
    meaning: 'The request has no valid credential: it is missing, expired, revoked or not one of this service.',
    remedy:
      'Get a token from POST /api/v1/oauth/token and send it as `Authorization: Bearer <token>`. People sign in at /sign-in.',
    example: 'The access token has expired. Request another one from POST /api/v1/oauth/token.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The token is valid but lacks a scope that this operation needs.',
    remedy: 'Ask for a token with the scopes in `required_scopes`, or have an administrator assign them.',
    example: 'This operation requires the scope hub:read.',
  },
  'cross-site-request': {
    status: 403,
    title: 'Cross-site request',
    meaning:
      'A page of another site sent this request. Endpoints of sign-in and of agents are only for pages of the Hub and programs.',
    remedy: 'Call the endpoint from a page of the Hub, or from a program that sends no Origin header.',
    example: 'The request comes from a page of another site. Call it from a page of the Hub.',
  },
  'address-not-allowed': {
    status: 403,
    title: 'Address not allowed',
    meaning: 'The service account has a list of addresses that it may be used from, and the caller is at another.',
    remedy: 'Call from an address of the list, or have an administrator change `allowed_addresses` of the account.',
    example: 'The service account may not be used from this address.',
  },
  'invalid-tenant': {
    status: 403,
    title: 'Invalid tenant',
    meaning: 'The tenant does not exist, or the caller has no access to it.',
    remedy: 'Send in `X-Service-Tenant` the slug of the tenant that the token was issued for.',
    example: 'The token was not issued for the tenant acme.',
  },
  'invalid-download-url': {
    status: 403,
    title: 'Invalid download URL',
    meaning: 'The download address was altered or is older than 24 hours.',
    remedy: 'Poll the export for its address, or create the export again if it has expired.',
    example: 'The download address is older than 24 hours. Poll the export for another one.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning: 'There is no such address, or no such thing in this tenant that the caller may see.',
    remedy: 'Check the path against /v1/openapi.json and the id against what the Hub returned.',
    example: 'There is no record of this id in this tenant.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The address exists but does not take this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
    example: 'This address accepts GET, HEAD, not PUT.',
  },
  'version-not-available': {
    status: 406,
    title: 'Version not available',
    meaning: 'The `Accept` header asks for a version of the API that does not exist yet.',
    remedy: 'Send `Accept: application/json`. Version 1 is current.',
    example: 'Version 2 of the API does not exist; the current version is 1.',
  },
  'concurrent-modification': {
    status: 409,
    title: 'Concurrent modification',
    meaning: 'The resource was changed or created since the caller last read it.',
    remedy: 'Read it again and repeat the change with its fresh ETag.',
    example: 'The budget was changed since its ETag was read. Read it again and repeat the change.',
  },
  'idempotency-conflict': {
    status: 409,
    title: 'Idempotency conflict',
    meaning: 'This idempotency key was used within the last 24 hours with a different payload.',
    remedy: 'Send the same payload to get the first answer, or a new key for a new payload.',
    example: 'This Idempotency-Key was used within the last 24 hours for another path or payload.',
  },
  'batch-too-large': {
    status: 413,
    title: 'Batch too large',
    meaning: 'A batch takes at most 1,000 events.',
    remedy: 'Split the events over several requests.',
    example: 'A batch can have at most 1000 events, this one has 1200. Split it into several requests.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Payload too large',
    meaning:
      'The body has more bytes, after inflation where it is compressed, more JSON values or a longer name or text than ' +
      'this operation takes.',
    remedy: 'Send less at a time. `detail` names the limit.',
    example: 'The body has more than 1 MiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body has a content type or encoding that this operation does not take.',
    remedy: 'Send `Content-Type: application/json`; the token endpoint takes application/x-www-form-urlencoded.',
    example: 'The body must be sent as Content-Type: application/json, in UTF-8.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'Range not satisfiable',
    meaning: 'The `Range` header asks for bytes behind the end of the file.',
    remedy: 'Ask for a range within the size that `Content-Range` names, or for the whole file without `Range`.',
    example: 'The range starts after the end of the file, which has 4096 bytes.',
  },
  'legal-hold': {
    status: 422,
    title: 'Legal hold',
    meaning: 'A hold, or the lack of a release, forbids purging this record.',
    remedy: 'Have the hold released, or for a governance event a release created, before purging.',
    example: 'The legal hold “Case 2026-14” covers this record. Release it before purging.',
  },
  retention: {
    status: 422,
    title: 'Retention',
    meaning: 'The record has not reached the minimum age that the retention rules of the tenant set for its type.',
    remedy: 'Purge it after the time in `detail`.',
    example: 'The retention rule of its type keeps this decision until 2033-01-05. Purge it then.',
  },
  'skill-not-registered': {
    status: 422,
    title: 'Skill not registered',
    meaning: 'The skill is not registered for this tenant, or has been retired.',
    remedy: 'Register it by writing a `skill_definition` record, then send the request again.',
    example: 'The skill reply-draft is not registered: write its skill_definition record first.',
  },
  'hub-not-provisioned': {
    status: 422,
    title: 'Hub not provisioned',
    meaning: 'This tenant runs in Mode B and takes no content before its own encryption key is set up.',
    remedy: 'Call POST /api/v1/hub/provision with `cmek` first.',
    example: 'This tenant runs in Mode B and has no key of its own yet. Provision it with `cmek` first.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    meaning: 'The token, the tenant or the address has used up its requests of this minute.',
    remedy: 'Wait for the seconds in `Retry-After`, then go on.',
    example: 'The rate limit is reached: 600 requests of the token within 60 s. Wait 12 s.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Request header fields too large',
    meaning: 'The header fields of the request are larger than 16 KiB together.',
    remedy: 'Send fewer or shorter header fields.',
    example: 'The header fields exceed 16 KiB.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'The service failed unexpectedly. Nothing of the request was stored.',
    remedy: 'Try again; if it stays, tell the operator the request id in `instance`.',
    example: 'The service failed unexpectedly. The operator can find the failure by the request id.',
  },
  'hub-unavailable': {
    status: 503,
    title: 'Hub unavailable',
    meaning: 'The service cannot do this right now, for example because its database is unavailable.',
    remedy: 'Retry with exponential backoff, not before the seconds in `Retry-After`.',
    example: 'The database does not respond. Retry after the seconds in Retry-After.',
  },
} as const satisfies Record<string, Problem>

export type ProblemSlug = keyof typeof problems
