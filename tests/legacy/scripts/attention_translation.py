"""Turns sequences round, with an encoder, a decoder, and attention over a variable number of words."""
from __future__ import unicode_literals, print_function, division

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.autograd import Variable

random.seed(12)
torch.manual_seed(12)
SOS_token, EOS_token, VOCAB, HIDDEN = 0, 1, 9, 10


def variable_from(indexes):
    return Variable(torch.LongTensor(indexes + [EOS_token]).view(-1, 1))


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, input, hidden):
        embedded = self.embedding(input).view(1, 1, -1)
        return self.gru(embedded, hidden)

    def initHidden(self):
        return Variable(torch.zeros(1, 1, self.hidden_size))


class Attn(nn.Module):
    def __init__(self, hidden_size):
        super(Attn, self).__init__()
        self.attn = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden, encoder_outputs):
        seq_len = len(encoder_outputs)
        # Create variable to store attention energies
        attn_energies = Variable(torch.zeros(seq_len))  # S
        for i in range(seq_len):
            attn_energies[i] = hidden.view(-1).dot(self.attn(encoder_outputs[i]).view(-1))
        # Normalize energies to weights in range 0 to 1, resize to 1 x 1 x seq_len
        return F.softmax(attn_energies).unsqueeze(0).unsqueeze(0)


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.gru = nn.GRU(hidden_size * 2, hidden_size)
        self.attn = Attn(hidden_size)
        self.out = nn.Linear(hidden_size * 2, output_size)

    def forward(self, word_input, last_context, last_hidden, encoder_outputs):
        word_embedded = self.embedding(word_input).view(1, 1, -1)
        rnn_input = torch.cat((word_embedded, last_context.unsqueeze(0)), 2)
        rnn_output, hidden = self.gru(rnn_input, last_hidden)
        attn_weights = self.attn(rnn_output.squeeze(0), encoder_outputs)
        context = attn_weights.bmm(encoder_outputs.transpose(0, 1))
        rnn_output = rnn_output.squeeze(0)
        context = context.squeeze(1)
        output = F.log_softmax(self.out(torch.cat((rnn_output, context), 1)))
        return output, context, hidden


encoder, decoder = EncoderRNN(VOCAB, HIDDEN), AttnDecoderRNN(HIDDEN, VOCAB)
encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.05)
decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.05)
criterion = nn.NLLLoss()


def train(input_variable, target_variable, teacher_forcing):
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    loss = 0
    input_length = input_variable.size()[0]
    target_length = target_variable.size()[0]

    encoder_hidden = encoder.initHidden()
    encoder_outputs = Variable(torch.zeros(input_length, 1, HIDDEN))
    for ei in range(input_length):
        encoder_output, encoder_hidden = encoder(input_variable[ei], encoder_hidden)
        encoder_outputs[ei] = encoder_output[0]

    decoder_input = Variable(torch.LongTensor([[SOS_token]]))
    decoder_context = Variable(torch.zeros(1, HIDDEN))
    decoder_hidden = encoder_hidden
    for di in range(target_length):
        decoder_output, decoder_context, decoder_hidden = decoder(
            decoder_input, decoder_context, decoder_hidden, encoder_outputs)
        loss += criterion(decoder_output, target_variable[di])
        if teacher_forcing:
            decoder_input = target_variable[di]  # Next target is next input
        else:
            topv, topi = decoder_output.data.topk(1)
            ni = topi[0][0]
            decoder_input = Variable(torch.LongTensor([[ni]]))  # Chosen word is next input
            if ni == EOS_token:
                break

    loss.backward()
    torch.nn.utils.clip_grad_norm(encoder.parameters(), 5.0)
    torch.nn.utils.clip_grad_norm(decoder.parameters(), 5.0)
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss.data[0] / target_length


history = []
for epoch in range(6):
    words = [random.randint(2, VOCAB - 1) for _ in range(random.randint(2, 5))]
    history.append(train(variable_from(words), variable_from(words[::-1]), epoch % 2 == 0))
