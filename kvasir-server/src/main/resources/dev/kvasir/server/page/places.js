const PLACES = { memory: 'Memory', disk: 'Disk', redis: 'Redis' };

/** What people call a place where pages are kept. */
export const placeName = place => PLACES[place] ?? place;
