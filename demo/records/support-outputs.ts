import type { DemoOutput } from './record-types.ts'

const reply = 'support.reply-draft'
const triage = 'support.ticket-triage'
const refund = 'support.refund-check'

/** Outputs of the skills of Support. */
export const supportOutputs: readonly DemoOutput[] = [
  {
    ref: 'reply-boots',
    title: 'Reply: boots that leak after a month',
    skillId: reply,
    text: 'Thank you for the photos: the seam is open, so this is a defect. We send you a new pair today and a label for the old one.',
    related: ['support-tone', 'refund-policy'],
  },
  {
    ref: 'reply-parcel',
    title: 'Reply: parcel lost before a holiday',
    skillId: reply,
    text: 'The carrier cannot find the parcel since Monday. We send the tent again by express to your hotel, at no cost.',
    related: ['support-tone'],
  },
  {
    ref: 'reply-surcharge',
    title: 'Reply: winter surcharge on freight',
    skillId: reply,
    text: 'The carriers add 8 percent until the end of the year. Orders above $150 still ship free of charge.',
    related: ['support-tone', 'carrier-tariffs'],
  },
  {
    ref: 'reply-surcharge-2',
    title: 'Reply: winter surcharge on freight, shorter',
    skillId: reply,
    text: 'Until the end of the year the carriers add 8 percent. Above $150 you pay no freight.',
    related: ['reply-surcharge'],
  },
  {
    ref: 'triage-monday',
    title: 'Triage of Monday’s backlog',
    skillId: triage,
    text: '412 tickets: 38 urgent (wrong deliveries before a trip), 190 returns, 121 questions about sizes, 63 others.',
    related: ['support-survey'],
  },
  {
    ref: 'triage-duplicates',
    title: 'Triage: tickets that ask the same twice',
    skillId: triage,
    text: '57 customers wrote by mail and by chat about the same order. In 21 cases the two replies differed.',
    related: ['support-survey', 'triage-monday'],
  },
  {
    ref: 'refund-pilot',
    title: 'Refund checks of the pilot team',
    skillId: refund,
    text: '139 checks in four weeks. 137 answered; agents agreed with 131. The check takes 4 seconds instead of 6 minutes by hand.',
    related: ['refund-policy'],
  },
  {
    ref: 'refund-failures',
    title: 'Refund checks that failed since the rollout',
    skillId: refund,
    text: 'Six of ten failures are timeouts of the refund ledger, four are amounts that version 3.0.0 reads as a number. Version 2.4.1 is not concerned.',
    related: ['refund-incident', 'refund-ledger', 'refund-release'],
  },
  {
    ref: 'claim-summary',
    title: 'Summary: refund claim of Tarn Valley Guides',
    skillId: refund,
    text: '92 refunds were refused, 88 of them for rope sets after use. The policy refunds used ropes only for a defect.',
    related: ['claim-letter', 'refund-policy'],
  },
  {
    ref: 'claim-timeline',
    title: 'Timeline: refund claim of Tarn Valley Guides',
    skillId: refund,
    text: 'Orders from March to May, returns in September and October, refusals within three days each, the letter last week.',
    related: ['claim-letter', 'claim-summary'],
  },
  {
    ref: 'claim-sample',
    title: 'Sample: ten refusals to Tarn Valley Guides',
    skillId: refund,
    text: 'Nine refusals name the paragraph of the policy. One rope had a torn sheath after a week, which is a defect: it should have been refunded.',
    related: ['claim-summary', 'refund-policy'],
  },
  {
    ref: 'claim-answer',
    title: 'Draft answer to Tarn Valley Guides',
    skillId: reply,
    text: 'We have looked at each of the 92 cases. Four ropes show a defect and are refunded with $800. For the others we offer a credit of 20 percent.',
    related: ['claim-sample', 'claim-timeline', 'support-tone'],
  },
]
