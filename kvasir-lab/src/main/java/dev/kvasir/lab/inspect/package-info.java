/** What a model's keys look like before a cache packs them. */
package dev.kvasir.lab.inspect;
