/** The invented company of the demo and its people. */

export const companyName = 'Fernhill Outdoor'

export const archetypes = [
  { archetype_id: 'support-agent', name: 'Support agent', group: 'Support', people: 44 },
  { archetype_id: 'software-engineer', name: 'Software engineer', group: 'Engineering', people: 24 },
  { archetype_id: 'account-executive', name: 'Account executive', group: 'Sales', people: 18 },
  { archetype_id: 'data-analyst', name: 'Data analyst', group: 'Data', people: 12 },
  { archetype_id: 'finance-controller', name: 'Finance controller', group: 'Finance', people: 14 },
  { archetype_id: 'legal-counsel', name: 'Legal counsel', group: 'Legal', people: 8 },
] as const

export type ArchetypeId = (typeof archetypes)[number]['archetype_id']

export interface DemoPerson {
  givenName: string
  familyName: string
  email: string
  archetypeId: ArchetypeId
  group: string
}

const givenNames =
  `Ada Ben Chidi Dora Elif Farid Gita Hana Ivan June Kofi Lena Mateo Nora Omar Priya Quentin Rosa Samir Tara
Ulrich Vera Wen Ximena Yusuf Zofia Amara Bruno Camille Dmitri Esther Felix Grace Hugo Ingrid Jamal Keiko Liam Mina
Nikhil Olga Pedro Ruth Sven Thandi Uma Viktor Wanda Yara Zane Anouk Bilal Carla David Emeka Freya Gustav Helena Idris
Joana`.split(/\s/)
const familyNames =
  `Abara Brandt Costa Dubois Eriksen Fujita Gomez Haddad Ito Jansen Keller Lindqvist Moreau Nwosu Okafor Petrov
Quist Rossi Silva Tanaka Ueda Vargas Weber Xu Yilmaz Zielinski Andersen Bianchi Chowdhury Duarte Engel Fischer Garcia
Hoffmann Ibrahim Jovanovic Kowalski Larsen Mbeki Novak Olsen Pereira Rahman Schmidt Torres Umarov Visser Wagner Yang
Zhang Alvarez Bauer Castillo Demir Evans Ferrari Grant Hughes Iqbal Jensen`.split(/\s/)

/** 120 people, each in one group and so of one archetype. All names differ. */
export const people: readonly DemoPerson[] = archetypes
  .flatMap(({ archetype_id: archetypeId, group, people: count }) =>
    Array.from({ length: count }, () => ({ archetypeId, group })),
  )
  .map((place, index) => {
    const givenName = givenNames[index % givenNames.length]!
    const familyName = familyNames[(index * 7 + Math.floor(index / givenNames.length) * 11) % familyNames.length]!
    const email = `${givenName}.${familyName}@demo.example`.toLowerCase()
    return { givenName, familyName, email, ...place }
  })
