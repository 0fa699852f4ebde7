/** A folder of plain files as a tier, shared by as many processes as like to. */
package dev.kvasir.store.folder;
