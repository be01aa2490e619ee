/** Sizes, lifetimes and rates of interface section 8. Units stand last in each name. */

export const pageSizeDefault = 50
export const pageSizeMax = 1000
export const batchEventsMax = 1000
export const latencyMsLimit = 600_000
export const tokenSumTolerance = 0.02
export const idempotencyKeyHours = 24
export const recoveryBufferDays = 30
export const serviceTokenSeconds = 3600
export const userTokenSeconds = 300
/** Absolute: of the session, of its cookies and of every refresh token, however often they are renewed. */
export const sessionHours = 8
/** Within it a refresh token that was just used answers with the same successor: tabs refresh side by side. */
export const refreshGraceSeconds = 20
/** From the redirect to the identity provider to the return from it. */
export const loginMinutes = 10
/** A rotated secret of a service account stays good beside the new one for so long. */
export const secretOverlapHours = 24
export const relatedRecordsMax = 256
/** Of a telemetry event. */
export const eventRelatedRecordsMax = 100
export const relatedDepthMax = 5
export const relatedAnswerMax = 1000
/** Canonical text of all records in one answer: 1,000 records of 1 MiB would be more than one answer can hold. */
export const recordsAnswerBytesMax = 16 * 1024 * 1024
export const recordBodyBytesMax = 1024 * 1024
/** Of operations that are called without a bearer token: signing in, and getting one. */
export const signInBodyBytesMax = 16 * 1024
export const pageFormBytesMax = 4 * 1024
export const batchBodyBytesMax = 16 * 1024 * 1024
export const skillVersionLengthMax = 128
export const metadataBytesMax = 8 * 1024
export const jsonDepthMax = 64
/** Bounds the bytes of one JSON number. A double has 767 significant digits at most; the bound keeps the cost of longer ones small. */
export const numberBytesMax = 8 * 1024
/** Records that one legal hold may name; one with a filter is over any number. */
export const holdRecordsMax = 10_000
/** Holds with a filter that a tenant may have in force: each is asked about every record that is purged. */
export const filterHoldsMax = 200
/** Of the holds over a record, a refusal names so many, the newest. */
export const holdsNamedMax = 100
export const holdNameLengthMax = 200
/** Of those that a hold names, so many are told with it. */
export const holdRecordsAnswered = 1000
export const retentionDaysMax = 36_500
/** From the completion of an export its files can be downloaded for so long; then they are deleted. */
export const exportHours = 24
/** An export that has not ended by then, from its order, has failed. */
export const exportRunHoursMax = 24
/** Exports of a tenant that wait or run at a time. */
export const exportsOpenMax = 20
/** Exports that one process writes side by side, in all and of one tenant. */
export const exportsAtOnce = { all: 3, ofTenant: 2 } as const
/** Highest quotas of exports: orders within 24 hours, and MiB of all files that a tenant keeps. */
export const exportQuotaMax = { perDay: 1_000_000, mbKept: 1_000_000_000 } as const
/** How often an export is begun anew after a failure that may pass, or after its process has died. */
export const exportTriesMax = 6
/** Entries of the map from groups to archetypes. */
export const scimMappingsMax = 1000
export const scimGroupLengthMax = 256
/** Of a filter, and of a path of PATCH. */
export const scimFilterLengthMax = 8192
export const scimFilterDepthMax = 16
export const scimFilterTermsMax = 100
export const scimPatchOperationsMax = 1000
/** Of all paths of one PATCH together, in characters, those that stand as names in values among them; each costs some. */
export const scimPatchPathsLengthMax = 128 * 1024
export const scimPatchPathCost = 32
/** Of all operations of one PATCH together, in steps of about a quarter of a microsecond: see PatchWork. */
export const scimPatchWorkMax = 150_000
/** A group with 50,000 members fits. */
export const scimBodyBytesMax = 4 * 1024 * 1024
export const scimPageSizeDefault = 100
/** A page of a SCIM list ends where it has as many characters of attributes, or members of groups, whatever was asked for. */
export const scimPageLengthMax = 4 * 1024 * 1024
export const scimPageMembersMax = 20_000
/** People whose archetypes follow a change of one group before it is answered; of more, soon afterwards. */
export const scimAssignedInPlaceMax = 5000
/** Of the attributes of one person or group, as JSON, without its members; in characters. */
export const scimResourceLengthMax = 64 * 1024
/** User names, external ids and names of groups. */
export const scimNameLengthMax = 512
/** Of one attribute of a person, such as e-mail addresses. */
export const scimValuesMax = 1000
/** Entries that the Hub asks a directory for at a time. */
export const rosterPullPageSize = 200
/** Of a list that a directory answers: what is parsed at once keeps everybody else waiting. */
export const rosterPullPageBytesMax = 4 * 1024 * 1024
/** Entries of one answer of a directory, which may leave aside how many were asked for. */
export const rosterPullPageEntriesMax = 10_000
/** Of any answer of a directory, such as one group with its members, and until it is there. */
export const rosterPullAnswerBytesMax = 8 * 1024 * 1024
export const rosterPullAnswerSeconds = 30
/** Entries of one kind that the Hub takes from a directory. */
export const rosterPullEntriesMax = 500_000
/** How often one page of a directory is asked for; the pause before the second time, doubled each time. */
export const rosterPullTriesMax = 6
export const rosterPullPauseMs = 500
/** The longest that the Hub waits because a directory asks for it. */
export const rosterPullRetryAfterSecondsMax = 600
/** A directory that the Hub reads is read again after so long. */
export const rosterPullEveryMinutes = 30
/** A sync that would deactivate more people than both of these, all of them or an unclear number asks first. */
export const massDeactivation = { people: 10, share: 0.2 } as const
/** A sync that asks waits so long for an answer; then it lapses. */
export const rosterConfirmationHours = 24
/** Syncs that have ended are listed for so long. */
export const rosterSyncDays = 30
/** Syncs that one process does side by side, and others of directories that take long to answer. */
export const rosterSyncsAtOnce = 4
export const slowRosterSyncsAtOnce = 8
/** A sync gives its place to others after so long; a directory that takes longer for one answer is a slow one. */
export const rosterSyncTurnSeconds = 2
/** A directory that was not read in so long is given up. */
export const rosterPullHoursMax = 24
export const magicLinkHours = 24
/** Sign-in mails to one address of a tenant; those who ask for more find the earlier ones, whose links stay good. */
export const signInMailsPerHour = 20
export const archetypesMax = 10_000
/** That one person may be given by hand. */
export const userArchetypesMax = 1_000
/** Skills of one pack, archetypes that it is for, and the grants that come of both. */
export const coworkSkillsMax = 1_000
export const coworkArchetypesMax = 1_000
export const coworkGrantsMax = 50_000
/** Skills that one archetype may be granted at a time by hand. */
export const archetypeSkillsMax = 10_000
/** Text of the packs on one page of their list: a page ends before it would have more, but has at least one. */
export const coworkPageBytesMax = 4 * 1024 * 1024
/** Questions in one request whether a user may use a skill. */
export const entitlementChecksMax = 1_000
export const displayNameLengthMax = 200
export const eventFutureMinutesMax = 5
/** Days that one summary by hours, or by days, may span. */
export const summaryDaysMax = { hour: 366, day: 3660 } as const
export const summaryDaysDefault = 30
/** A tenant's own prices. */
export const priceOverridesMax = 1000
export const priceUsdPerMtokMax = 1_000_000
export const priceDecimalsMax = 12
/** Connectors of a tenant. */
export const connectorsMax = 100
export const credentialsMax = 16
export const credentialLengthMax = 4096
/** A receiver of manifests has so long to answer. */
export const publishAnswerSeconds = 15
/** Bytes of a signed skill manifest. */
export const skillManifestBytesMax = 16 * 1024 * 1024
/** A connector with a publish within so long is healthy (interface section 4.4). */
export const publishedWithinSeconds = 60
/** Endpoints of a tenant. */
export const webhooksMax = 100
/** What a message carries (`data`), as JSON; of more the largest members are left out. */
export const webhookDataBytesMax = 16 * 1024
/** What an endpoint is for, in characters. */
export const webhookDescriptionLengthMax = 500
/** Kinds of events that one endpoint names, and skills or archetypes that its filters name. */
export const webhookEventsMax = 100
export const webhookFilterIdsMax = 1000
/** Rules over windows of one endpoint. */
export const webhookAlertsMax = 50
/** Alerts of one endpoint that are open at a time: further ones wait until some have closed. */
export const webhookOpenAlertsMax = 1000
/**
 * Readings of telemetry that the rules of all endpoints of a tenant take together. Those of the same `group_by` share
 * one, whatever their windows and thresholds are, where the endpoints have the same filters.
 */
export const webhookAlertReadingsMax = 50
/** Pauses between the attempts of a delivery, each ± 20 %; after the last one it is dead. */
export const webhookPauseSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 36_000] as const
export const webhookPauseSpread = 0.2
/** A receiver has so long to answer. */
export const webhookAnswerSeconds = 15
/** The longest that a receiver may ask the Hub to wait. */
export const webhookRetryAfterSecondsMax = 86_400
/** An endpoint that failed for so long is disabled. */
export const webhookFailingHoursMax = 120
/** Deliveries are listed, and can be made again, for so long. */
export const webhookDeliveryDays = 28
/** Deliveries of an endpoint that wait to be attempted, a few thousand more at times: beyond, the oldest are given up. */
export const webhookOpenDeliveriesMax = 200_000
/** Attempts of a delivery that are kept, the last ones. */
export const webhookAttemptsKept = 20
/** Of the body of an answer. */
export const webhookBodyCharactersKept = 1024
/** Open or dead deliveries of one endpoint are counted up to here, to say how it does. */
export const webhookHealthCountMax = 1000
/** Deliveries that one order may make again. */
export const webhookRedeliveriesMax = 100_000
/** Of a received signature (interface section 8), and of one from a clock that is ahead. */
export const webhookSignatureAgeSeconds = 300
export const webhookSignatureAheadSeconds = 60
/** Body of an inbound call. */
export const inboundBodyBytesMax = 64 * 1024
/** An inbound message is known for so long. */
export const inboundMessageDays = 14
/** Saved views of one owner, and those that a tenant shares. */
export const ownViewsMax = 100
export const sharedViewsMax = 500
export const viewNameLengthMax = 100
/** Of the query of a page's address, in characters. */
export const viewQueryLengthMax = 4000

/** Bounds of a request body. A value is a JSON text, number, literal, array or object; each member has one. */
export interface BodyBounds {
  /** After inflation. */
  bytes: number
  values: number
  /** Of any one object: many in one cost more than in several. */
  objectMembers: number
  /** Bounds the bytes of a member name in the body, escapes included, without its quotes. */
  nameBytes: number
  /** Bounds the bytes of any one text or name in the body, escapes included. Defaults to the bytes of the body. */
  textBytes?: number
  /** Of one event of a batch. */
  eventValues?: number
}

/** The largest metadata has no longer name. Errors repeat names, so an answer could be as large as its body. */
const nameBytes = 8 * 1024

/** Bounds by kind of body. Each operation with a body names its kind in `contract/operations/`. See ADR 0052. */
export const bodyBounds = {
  /** Forms of pages without a script. */
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
