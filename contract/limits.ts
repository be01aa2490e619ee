/** Sizes, lifetimes and rates of interface section 8. A name contains the unit of its value, where it has one. */

export const pageSizeDefault = 50
export const pageSizeMax = 1000
export const batchEventsMax = 1000
/** Maximum number of steps on one page of a session or trace, and of sessions on one page of their list. */
export const stepsPageMax = 1000
export const sessionsPageMax = 50
export const sessionsPageDefault = 20
/** Events whose numbers the list of sessions adds up for each session: the newest. */
export const sessionEventsCounted = 200
/** Maximum number of events that one page of the list of sessions scans. */
export const sessionsScannedMax = 5000
export const latencyMsLimit = 600_000
export const tokenSumTolerance = 0.02
export const idempotencyKeyHours = 24
export const recoveryPeriodDays = 30
export const serviceTokenSeconds = 3600
export const userTokenSeconds = 300
/** Absolute lifetime of a session, its cookies and its refresh tokens. Renewal does not extend it. */
export const sessionHours = 8
/** Time in which a refresh token that was just used returns the same successor, because tabs refresh in parallel. */
export const refreshGraceSeconds = 20
/** Longest time between the redirect to the identity provider and the callback. */
export const loginMinutes = 10
/** Time in which a client redeems an authorization code. */
export const authorizationCodeSeconds = 60
/** Bounds of the metadata that an OAuth client registers. */
export const clientNameLengthMax = 100
export const clientRedirectsMax = 10
export const clientRedirectLengthMax = 500
/** Maximum length of all redirect URIs of a client together: its id contains them. */
export const clientRedirectsLengthMax = 600
/** Maximum length of an authorization request's path and query, which must survive a sign-in as `return_to`. */
export const authorizationPathLengthMax = 2000
/** Time for which a rotated secret stays valid beside the new one: of service accounts, SCIM, webhooks and inbound messages. */
export const secretOverlapHours = 24
/** Maximum number of records that one page scans for a filter without an index. */
export const scannedRecordsMax = 10_000
export const relatedRecordsMax = 256
/** Maximum number of related records of a telemetry event. */
export const eventRelatedRecordsMax = 100
export const relatedDepthMax = 5
export const relatedResponseMax = 1000
/** Canonical text of all records in one answer: 1,000 records of 1 MiB would be more than one answer can hold. */
export const recordsResponseBytesMax = 16 * 1024 * 1024
export const recordBodyBytesMax = 1024 * 1024
/** Maximum body of an operation without a bearer token, such as sign-in and token requests. */
export const signInBodyBytesMax = 16 * 1024
export const pageFormBytesMax = 4 * 1024
export const batchBodyBytesMax = 16 * 1024 * 1024
export const skillVersionLengthMax = 128
export const sessionIdLengthMax = 128
export const metadataBytesMax = 8 * 1024
export const jsonDepthMax = 64
/** Maximum bytes of one JSON number. A double has at most 767 significant digits; longer ones cost CPU time. */
export const numberBytesMax = 8 * 1024
/** Maximum number of records that one legal hold names. A hold with a filter covers any number. */
export const holdRecordsMax = 10_000
/** Maximum number of active holds with a filter per tenant. Each is evaluated for every purged record. */
export const filterHoldsMax = 200
/** Number of holds that a refusal names, newest first. */
export const holdsNamedMax = 100
export const holdNameLengthMax = 200
/** Number of named records that the response for a hold lists. */
export const holdRecordsListed = 1000
export const retentionDaysMax = 36_500
/** The longest six months. Laws ask for logs of six months at least, so that an earlier purge is answered with a warning. */
export const logRetentionDaysMin = 184
/** Time after completion for which the files of an export can be downloaded. Then they are deleted. */
export const exportHours = 24
/** Time after its request at which an unfinished export fails. */
export const exportRunHoursMax = 24
/** Longest period of an evidence pack. */
export const evidencePackDaysMax = 3660
export const evidenceNoteLengthMax = 2000
/** Maximum number of queued and running exports per tenant. */
export const exportsOpenMax = 20
/** Number of exports that one process writes in parallel, in total and per tenant. */
export const exportsAtOnce = { all: 3, ofTenant: 2 } as const
/** Highest export quotas that can be set: requests within 24 hours, and MiB of all stored files of a tenant. */
export const exportQuotaMax = { perDay: 1_000_000, mbKept: 1_000_000_000 } as const
/** Maximum number of restarts of an export after a transient failure or the death of its process. */
export const exportTriesMax = 6
/** Entries of the map from groups to archetypes. */
export const scimMappingsMax = 1000
export const scimGroupLengthMax = 256
/** Maximum length of a filter and of a PATCH path, in characters. */
export const scimFilterLengthMax = 8192
export const scimFilterDepthMax = 16
export const scimFilterTermsMax = 100
export const scimPatchOperationsMax = 1000
/** Maximum total length of the paths of one PATCH, in characters, names in values included. Each adds a fixed cost. */
export const scimPatchPathsLengthMax = 128 * 1024
export const scimPatchPathCost = 32
/** Maximum work of one PATCH in steps of about 0.25 microseconds, see PatchWork. */
export const scimPatchWorkMax = 150_000
/** A group with 50,000 members fits. */
export const scimBodyBytesMax = 4 * 1024 * 1024
export const scimPageSizeDefault = 100
/** A page of a SCIM list ends at this many characters of attributes or members of groups, regardless of `count`. */
export const scimPageLengthMax = 4 * 1024 * 1024
export const scimPageMembersMax = 20_000
/** People whose archetypes change within the request that changes their group. The others follow in the background. */
export const scimAssignedInPlaceMax = 5000
/** Maximum length of the attributes of a person or group as JSON, without its members, in characters. */
export const scimResourceLengthMax = 64 * 1024
/** Maximum length of a user name, an external id or a group name. */
export const scimNameLengthMax = 512
/** Maximum number of values of one attribute of a person, such as e-mail addresses. */
export const scimValuesMax = 1000
/** Number of entries that the Hub requests from a directory at a time. */
export const rosterPullPageSize = 200
/** Maximum bytes of a page from a directory. Parsing it blocks the event loop. */
export const rosterPullPageBytesMax = 4 * 1024 * 1024
/** Maximum number of entries in one response of a directory, which may ignore the requested count. */
export const rosterPullPageEntriesMax = 10_000
/** Maximum bytes and duration of any response of a directory, such as one group with its members. */
export const rosterPullResponseBytesMax = 8 * 1024 * 1024
export const rosterPullResponseSeconds = 30
/** Maximum number of entries of one kind that the Hub reads from a directory. */
export const rosterPullEntriesMax = 500_000
/** Maximum number of attempts for one page of a directory, and the first pause between them. It doubles each time. */
export const rosterPullTriesMax = 6
export const rosterPullPauseMs = 500
/** Longest `Retry-After` of a directory that the Hub follows. */
export const rosterPullRetryAfterSecondsMax = 600
/** Interval between two pulls of a directory. */
export const rosterPullEveryMinutes = 30
/** A sync that would deactivate more people than both of these, all, or an unclear number needs confirmation. */
export const massDeactivation = { people: 10, share: 0.2 } as const
/** Time for which a sync awaits confirmation before it lapses. */
export const rosterConfirmationHours = 24
/** Time for which completed syncs are listed. */
export const rosterSyncDays = 30
/** Number of syncs that one process runs in parallel, for fast and for slow directories. */
export const rosterSyncsAtOnce = 4
export const slowRosterSyncsAtOnce = 8
/** Length of a time slice of a sync. A directory that needs longer for one response counts as slow. */
export const rosterSyncTurnSeconds = 2
/** Time after which an unfinished pull fails. */
export const rosterPullHoursMax = 24
export const magicLinkHours = 24
/** Maximum number of sign-in mails to one address of a tenant. The links of earlier mails stay valid. */
export const signInMailsPerHour = 20
/** Maximum number of invitations of a tenant in 24 hours, so that a tenant cannot mail strangers without end. */
export const invitationsPerDay = 1000
export const archetypesMax = 10_000
/** Maximum number of archetypes that an administrator assigns to one person. */
export const userArchetypesMax = 1_000
/** Maximum numbers of skills and archetypes of one pack, and of the grants that result from both. */
export const coworkSkillsMax = 1_000
export const coworkArchetypesMax = 1_000
export const coworkGrantsMax = 50_000
/** Maximum number of skills granted to one archetype by one request. */
export const archetypeSkillsMax = 10_000
/** Maximum bytes of the packs on one page of their list. A page has at least one pack. */
export const coworkPageBytesMax = 4 * 1024 * 1024
/** Maximum number of entitlement checks in one request. */
export const entitlementChecksMax = 1_000
export const displayNameLengthMax = 200
export const eventFutureMinutesMax = 5
/** Maximum number of days in one summary by hour and by day. */
export const summaryDaysMax = { hour: 366, day: 3660 } as const
export const summaryDaysDefault = 30
/** Maximum number of price overrides of a tenant. */
export const priceOverridesMax = 1000
export const priceUsdPerMtokMax = 1_000_000
export const priceDecimalsMax = 12
/** Maximum number of connectors per tenant. */
export const connectorsMax = 100
export const credentialsMax = 16
export const credentialLengthMax = 4096
/** Timeout for the response of a manifest receiver. */
export const publishResponseSeconds = 15
/** Maximum bytes of a signed skill manifest. */
export const skillManifestBytesMax = 16 * 1024 * 1024
/** A connector that published within this time is healthy (interface section 4.4). */
export const publishedWithinSeconds = 60
/** Thresholds of messages about single invocations, unless the endpoint sets them. */
export const webhookThresholdDefaults = { latency_ms: 30_000, cost_usd: 1 } as const
/** Maximum number of webhook endpoints per tenant. */
export const webhooksMax = 100
/** Maximum bytes of a message's `data` as JSON. The largest members are left out of longer data. */
export const webhookDataBytesMax = 16 * 1024
/** Maximum length of an endpoint's description, in characters. */
export const webhookDescriptionLengthMax = 500
/** Maximum number of event types that one endpoint subscribes to, and of skills or archetypes in its filters. */
export const webhookEventsMax = 100
export const webhookFilterIdsMax = 1000
/** Maximum number of alert rules of one endpoint. */
export const webhookAlertsMax = 50
/** Maximum number of open alerts of one endpoint. Further alerts wait until others have closed. */
export const webhookOpenAlertsMax = 1000
/** Maximum number of governance events `alert.opened` of a tenant within an hour. */
export const alertEventsPerHour = 20
/**
 * Maximum number of metric readings for the rules of all endpoints of a tenant. Rules with the same `group_by` share
 * one, regardless of window and threshold, if their endpoints have the same filters.
 */
export const webhookAlertReadingsMax = 50
/** Pauses between the attempts of a delivery, each ± 20 %. A delivery fails permanently after the last attempt. */
export const webhookPauseSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 36_000] as const
export const webhookPauseSpread = 0.2
/** Timeout for the response of a webhook receiver. */
export const webhookResponseSeconds = 15
/** Longest `Retry-After` of a receiver that the Hub follows. */
export const webhookRetryAfterSecondsMax = 86_400
/** Time of continuous failure after which an endpoint is disabled. */
export const webhookFailingHoursMax = 120
/** Time for which deliveries are listed and can be redelivered. */
export const webhookDeliveryDays = 28
/** Maximum number of pending deliveries of an endpoint. Beyond it, soon after, the oldest fail permanently. */
export const webhookOpenDeliveriesMax = 200_000
/** Number of last attempts of a delivery that are stored. */
export const webhookAttemptsKept = 20
/** Number of characters of a receiver's response body that are stored. */
export const webhookBodyCharactersKept = 1024
/** Upper limit for counting pending or dead deliveries in the health of an endpoint. */
export const webhookHealthCountMax = 1000
/** Maximum number of deliveries that one request redelivers. */
export const webhookRedeliveriesMax = 100_000
/** Maximum age of a received signature (interface section 8), and maximum lead of the sender's clock. */
export const webhookSignatureAgeSeconds = 300
export const webhookSignatureAheadSeconds = 60
/** Maximum body of an inbound message. */
export const inboundBodyBytesMax = 64 * 1024
/** Time for which the id of an inbound message is remembered. */
export const inboundMessageDays = 14
/** Maximum number of saved views per owner, and of shared views per tenant. */
export const ownViewsMax = 100
export const sharedViewsMax = 500
export const viewNameLengthMax = 100
/** Maximum length of the query of a page's address, in characters. */
export const viewQueryLengthMax = 4000

/** Maximum number of budgets per tenant, so that all are evaluated in one snapshot. */
export const budgetsMax = 100
export const budgetNameLengthMax = 200
/** Bounds of the thresholds of a budget: their number, and each in percent of the amount. */
export const budgetThresholdsMax = 10
export const budgetThresholdPercentMax = 1000
/** Maximum number of concurrent tests of unsaved webhook addresses of a tenant, in each process. */
export const webhookAddressTestsAtOnce = 4
/** Maximum number of e-mail addresses, and of webhook endpoints, that one budget notifies. */
export const budgetRecipientsMax = 20
/** Maximum number of mails about budgets that a tenant sends in a day of UTC. */
export const budgetMailsPerDayMax = 1000

/** Bounds of a request body. A value is a JSON text, number, literal, array or object; each member has one. */
export interface BodyBounds {
  /** After inflation. */
  bytes: number
  values: number
  /** Members of any one object. Many members in one object cost more than in several. */
  objectMembers: number
  /** Bounds the bytes of a member name in the body, escapes included, without its quotes. */
  nameBytes: number
  /** Bounds the bytes of any one text or name in the body, escapes included. Defaults to the bytes of the body. */
  textBytes?: number
  /** Values of one event of a batch. */
  eventValues?: number
}

/** The largest metadata has no longer name. Errors repeat names, so an answer could be as large as its body. */
const nameBytes = 8 * 1024

/** Bounds by kind of body. Each operation with a body names its kind in `contract/operations/`. See ADR 0052. */
export const bodyBounds = {
  /** HTML forms of pages that work without JavaScript. */
  form: { bytes: pageFormBytesMax, values: 1000, objectMembers: 2000, nameBytes },
  signIn: { bytes: signInBodyBytesMax, values: 1000, objectMembers: 2000, nameBytes },
  settings: { bytes: recordBodyBytesMax, values: 2000, objectMembers: 2000, nameBytes },
  /** 10,000 archetypes with names fit. */
  list: { bytes: recordBodyBytesMax, values: 50_000, objectMembers: 2000, nameBytes },
  record: { bytes: recordBodyBytesMax, values: 50_000, objectMembers: 10_000, nameBytes },
  /** The largest metadata fits: it has 1,638 members. */
  event: { bytes: recordBodyBytesMax, values: 2000, objectMembers: 2000, nameBytes },
  /** No text of an event is larger than a body of one event. */
  batch: {
    bytes: batchBodyBytesMax,
    values: 200_000,
    objectMembers: 2000,
    nameBytes,
    textBytes: recordBodyBytesMax,
    eventValues: 2000,
  },
  inbound: { bytes: inboundBodyBytesMax, values: 2000, objectMembers: 2000, nameBytes },
  /** A group with 50,000 members fits, each an object with `value` and `display`. */
  scim: { bytes: scimBodyBytesMax, values: 160_000, objectMembers: 1000, nameBytes },
  /** 10,000 spans with 20 attributes fit, each attribute four values in JSON. */
  otlp: {
    bytes: batchBodyBytesMax,
    values: 1_000_000,
    objectMembers: 2000,
    nameBytes,
    textBytes: recordBodyBytesMax,
  },
} as const satisfies Record<string, BodyBounds>

export type BodyKind = keyof typeof bodyBounds

/** A body counts as one request of its rate class for each started unit of its bytes after inflation. */
export const bodyBytesPerRequest = 1024 * 1024

/** Errors of refused events that the answer to a batch lists; `errors_omitted` counts the others. */
export const batchErrorsMax = 100

/** Requests per minute, for one token and for a whole tenant. */
export const rateLimits = {
  auth: { perToken: 10, perTenant: 100 },
  'hub-read': { perToken: 1000, perTenant: 10_000 },
  'hub-write': { perToken: 500, perTenant: 5000 },
  'telemetry-ingest': { perToken: 10_000, perTenant: 100_000 },
  roster: { perToken: 100, perTenant: 1000 },
  'skill-entitlement': { perToken: 100, perTenant: 1000 },
} as const

export type RateClass = keyof typeof rateLimits

export const rateClasses = Object.keys(rateLimits) as RateClass[]

/** Characters of a search, and results of a page. */
export const searchLengthMax = 500
/** Words of a query that are compared with records, if not all must occur: the longest, which tend to be rare. */
export const searchWordsMax = 12
export const searchPageSizeDefault = 20
export const searchPageSizeMax = 100
export const suggestionsMax = 10

/**
 * Maximum number of notifications of each kind in a response, so that many of one kind do not displace another, and the
 * days in which they happened.
 */
export const notificationsPerKind = 10
export const notificationDays = 30
