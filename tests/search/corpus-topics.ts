/** Subject, outcome and rationale of each topic, with places for what differs between branches and years. */
export const topics = {
  forklifts: [
    'Replacement of diesel forklifts in {city}, {year}',
    'Leased electric forklifts from {vendor} for {amount} euros a year.',
    'The diesel trucks failed the emission inspection, and charging at night costs half as much as fuel.',
  ],
  payroll: [
    'Payroll provider for the {city} office from {year}',
    'Moved payroll to {vendor}.',
    'Salaries were paid late twice, and the former provider could not calculate overtime for part-time employees.',
  ],
  cafeteria: [
    'Subsidy for lunches in the {city} canteen, {year}',
    'The company pays a third of every meal.',
    'Few colleagues ate on site after prices rose, and the caterer {vendor} threatened to close the kitchen.',
  ],
  parking: [
    'Allocation of parking spaces in {city} in {year}',
    'Spaces go to shift workers and carpools first.',
    'Managers had reserved places that stood empty, while the night crew searched for {days} minutes.',
  ],
  ransomware: [
    'Backups against ransomware in {city} ({year})',
    'Bought immutable storage from {vendor} and restore a sample every month.',
    'An attacker could have encrypted the old tapes, which were connected to the same network.',
  ],
  refunds: [
    'Refund limit of the {city} service desk, {year}',
    'Agents may refund up to {amount} cents without approval.',
    'Customers waited {days} hours for small repayments, and supervisors approved nearly all of them.',
  ],
  translation: [
    'Translation of the product manual for {city} in {year}',
    'Machine translation with review by a native speaker from {vendor}.',
    'Human translation took {days} days, longer than a release, and readers noticed no difference in quality.',
  ],
  chatbot: [
    'Assistant on the {city} support page, {year}',
    'The chatbot answers questions about delivery only, and hands over complaints to people.',
    'It invented return conditions in {days} of a thousand conversations that were reviewed.',
  ],
  hiring: [
    'Hiring freeze for {city} until the end of {year}',
    'No vacancies are filled except in safety and maintenance.',
    'Orders fell below the forecast, and the budget has no reserve for further salaries.',
  ],
  pricing: [
    'Discounts for wholesale customers of {city}, {year}',
    'Volume discounts end at {days} pallets.',
    'Larger rebates attracted resellers who undercut our own shops.',
  ],
  solar: [
    'Photovoltaic panels on the {city} roof, {year}',
    'Signed with {vendor} for {amount} euros; installation in {month}.',
    'Electricity became expensive, and the roof carries the weight according to the structural engineer.',
  ],
  whistleblower: [
    'Reporting channel for misconduct at {city}, {year}',
    'An ombudsperson outside of the company receives anonymous reports.',
    'Employees did not trust a mailbox that their own superiors could read.',
  ],
  retention: [
    'Deletion of applicant data in {city} ({year})',
    'Documents of rejected candidates are erased after {days} days.',
    'The privacy officer found resumes from years ago, without consent to keep them.',
  ],
  carrier: [
    'Parcel carrier of the {city} depot in {year}',
    'Switched from {vendor} to two regional carriers.',
    'A strike stopped all shipments for {days} hours, because there was only one contract.',
  ],
  sensors: [
    'Temperature sensors in the {city} cold store, {year}',
    'Installed wireless sensors with alarms by text message.',
    'Vaccines were spoiled when a door stayed open over a weekend and nobody noticed.',
  ],
  remote: [
    'Remote work rule for {city} from {month} {year}',
    'Two days a week at the office; teams choose which.',
    'New colleagues learned too slowly alone, yet most people resigned over full attendance elsewhere.',
  ],
  languagemodel: [
    'Language model for contract review in {city}, {year}',
    'The smaller model drafts, and a lawyer signs every clause.',
    'The larger model cost {amount} dollars a month and found no additional liabilities in the test set.',
  ],
  travel: [
    'Business trips by train from {city}, {year}',
    'Journeys under five hours are made by rail.',
    'Flights caused most of our carbon emissions, and travellers lost hours at security checks.',
  ],
  laptops: [
    'Lifetime of laptops in {city}, {year}',
    'Notebooks are used for five years, with a new battery after three.',
    'Repairs by {vendor} cost a tenth of replacements, and few machines were too slow.',
  ],
  insurance: [
    'Cyber insurance for {city} in {year}',
    'Declined the renewal with {vendor}.',
    'The premium doubled to {amount} euros while the policy excluded attacks by states.',
  ],
  uniforms: [
    'Work clothes of the {city} technicians, {year}',
    'Technicians choose between two jackets that {vendor} washes.',
    'The old overalls had no pockets for tablets, and women found none that fit.',
  ],
  supplier: [
    'Second source for steel screws at {city} ({year})',
    'Qualified {vendor} as an additional supplier.',
    'A flood closed the only factory, and assembly stood still for {days} days.',
  ],
  noise: [
    'Night noise at the {city} loading dock, {year}',
    'No lorries between ten and five.',
    'Neighbours complained to the municipality, which threatened a fine of {amount} euros.',
  ],
  apprentices: [
    'Number of apprentices in {city} for {year}',
    'Trains four mechatronics apprentices instead of two.',
    'Skilled workers retire soon, and advertisements brought hardly any candidates.',
  ],
  audit: [
    'Access reviews for auditors of {city}, {year}',
    'Team leads confirm permissions every quarter.',
    'The external examination found accounts of people who had left {days} weeks before.',
  ],
  website: [
    'Accessibility of the {city} web shop, {year}',
    'All forms get labels for screen readers before {month}.',
    'Blind customers could not complete the checkout, and a new law requires it.',
  ],
  pension: [
    'Pension plan for {city} staff from {year}',
    'The employer matches contributions up to four percent.',
    'Competitors offer it, and young employees asked about old-age provision in interviews.',
  ],
  water: [
    'Rainwater for the {city} washing line, {year}',
    'Built a cistern of {amount} litres.',
    'Drought restrictions stopped the cleaning of vehicles in summer, and wells ran dry.',
  ],
  badge: [
    'Entrance badges in {city}, {year}',
    'Replaced magnetic cards by phones with {vendor}.',
    'Cards were copied easily, and lost ones stayed valid for {days} days.',
  ],
  survey: [
    'Employee survey at {city} in {year}',
    'Ask five questions every month instead of sixty once.',
    'Only a fifth responded to the long questionnaire, and results came too late to act upon.',
  ],
  robots: [
    'Picking robots for the {city} warehouse, {year}',
    'Postponed the purchase of robots from {vendor}.',
    'They dropped fragile goods, and the aisles would have to be widened by {days} centimetres.',
  ],
  medicine: [
    'Defibrillators for {city}, {year}',
    'Two devices, and training for everyone on the floor.',
    'The ambulance needs twelve minutes to the site; a cardiac arrest leaves five.',
  ],
  donations: [
    'Donation of unsold food by {city}, {year}',
    'Leftovers go to the food bank every evening.',
    'Throwing away bread costs {amount} euros a year, and volunteers collect it for free.',
  ],
  currency: [
    'Hedging of exchange rates for {city}, {year}',
    'Hedge half of all purchases in dollars for {days} days.',
    'A weak euro wiped out the margin of an entire season.',
  ],
  bicycles: [
    'Bicycle leasing for the {city} team, {year}',
    'Employees lease bikes through {vendor} from their gross pay.',
    'Commuters asked for it, and each car less frees a place for visitors.',
  ],
  password: [
    'Passkeys in place of passwords at {city}, {year}',
    'Everyone signs in with a passkey from {month}.',
    'Phishing stole {days} passwords in one afternoon, despite yearly training.',
  ],
  warranty: [
    'Warranty on refurbished devices from {city}, {year}',
    'Extended the guarantee to two years.',
    'Buyers doubted used goods, and fewer than one in {days} units came back defective.',
  ],
  childcare: [
    'Day nursery near the {city} plant, {year}',
    'Reserved ten places with {vendor}.',
    'Parents on early shifts found no childcare before eight, and two left the company.',
  ],
  packaging: [
    'Paper packaging for {city} orders, {year}',
    'Plastic film is replaced by paper cushions from {vendor}.',
    'The packaging tax rises, and customers complained about waste.',
  ],
  archive: [
    'Paper archive of {city}, {year}',
    'Scan invoices, then shred the originals after {days} days.',
    'The basement was damp, mould had destroyed folders, and rent for shelves grew.',
  ],
} as const satisfies Record<string, readonly [string, string, string]>
